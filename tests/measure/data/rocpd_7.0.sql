-- What a rocpd file of ROCm 7.0 holds of two launches, in the columns that counters need.
CREATE TABLE "rocpd_pmc_event_00c5" (id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, value REAL);
CREATE TABLE "rocpd_info_pmc_00c5" (id INTEGER PRIMARY KEY, name TEXT, symbol TEXT);
CREATE TABLE "rocpd_info_kernel_symbol_00c5" (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT);
CREATE TABLE "rocpd_kernel_dispatch_00c5" (id INTEGER PRIMARY KEY, pid INTEGER, kernel_id INTEGER, dispatch_id INTEGER, start BIGINT, "end" BIGINT, event_id INTEGER);
INSERT INTO "rocpd_info_pmc_00c5" VALUES (1, 'TCC_HIT_sum', 'TCC_HIT_sum'), (2, 'TCC_MISS_sum', 'TCC_MISS_sum');
INSERT INTO "rocpd_info_kernel_symbol_00c5" VALUES (5, '_Z4gemmILb1EEvPKfPfi.kd', 'void gemm<true>(float const*, float*, int)');
INSERT INTO "rocpd_kernel_dispatch_00c5" VALUES (1, 310, 5, 1, 2000000, 3000000, 11), (2, 310, 5, 2, 4000000, 6000000, 12);
-- The second launch's hits come in two parts, of two dies.
INSERT INTO "rocpd_pmc_event_00c5" (event_id, pmc_id, value) VALUES (11, 1, 100), (11, 2, 300), (12, 1, 250000), (12, 1, 350000), (12, 2, 200000);
CREATE VIEW counters_collection AS SELECT d.pid AS pid, d.dispatch_id AS dispatch_id, s.display_name AS kernel_name, i.name AS counter_name,
  SUM(e.value) AS value, d.start AS start, d."end" AS "end"
  FROM "rocpd_pmc_event_00c5" e JOIN "rocpd_info_pmc_00c5" i ON i.id = e.pmc_id JOIN "rocpd_kernel_dispatch_00c5" d ON d.event_id = e.event_id
  JOIN "rocpd_info_kernel_symbol_00c5" s ON s.id = d.kernel_id GROUP BY d.dispatch_id, i.name;
