int reference(int i) { return 2 * i + 1; }
