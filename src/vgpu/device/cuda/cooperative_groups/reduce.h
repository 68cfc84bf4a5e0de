// Of one piece with the groups here.
#pragma once
#include "../cooperative_groups.h"
