-- +goose Up
-- What each table holds: docs/archive.md. Times are ns since 1970 unless a line says otherwise. Partitions are made when
-- something is filed into them.
CREATE TABLE state (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO state VALUES ('moved', 0), ('upto', 0), ('pruned', 0), ('restoring', 0);

CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE stream (
  id BIGINT PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, test TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL,
  latest BYTEA NOT NULL, UNIQUE (source, target, test, tool, kind)
) WITH (fillfactor = 50);

-- day: of the newest Result in it, since 1970. samples: whether any Result in it has some.
CREATE TABLE block (
  id BIGINT NOT NULL, day BIGINT NOT NULL, tool TEXT NOT NULL, samples INTEGER NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (id, day)
) PARTITION BY RANGE (day);
ALTER TABLE block ALTER COLUMN data SET STORAGE EXTERNAL; -- it is compressed
CREATE TABLE result (
  id BYTEA PRIMARY KEY, time BIGINT NOT NULL, stream BIGINT NOT NULL, status INTEGER NOT NULL, block BIGINT NOT NULL, line INTEGER NOT NULL
);
-- Results come nearly in order of time: a few bytes for many pages tell which of them to look through.
CREATE INDEX result_time ON result USING brin (time) WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX result_troubled ON result (status, time, id) WHERE status > 0;

CREATE TABLE journal (id BIGINT PRIMARY KEY, generation BIGINT NOT NULL, data BYTEA NOT NULL);
ALTER TABLE journal ALTER COLUMN data SET STORAGE EXTERNAL;
-- slot: of 20 minutes, since 1970. generation: in which it was moved, so that nothing is read to add to a slot.
CREATE TABLE points (slot BIGINT NOT NULL, stream BIGINT NOT NULL, generation BIGINT NOT NULL, data BYTEA NOT NULL) PARTITION BY RANGE (slot);
CREATE INDEX points_stream ON points (stream, slot);
CREATE INDEX points_slot ON points USING brin (slot);
ALTER TABLE points ALTER COLUMN data SET STORAGE EXTERNAL;
-- level: index of the step. start: of the row, in seconds since 1970.
CREATE TABLE rollup (
  level INTEGER NOT NULL, start BIGINT NOT NULL, series BIGINT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (level, start, series)
) PARTITION BY RANGE (level, start);
ALTER TABLE rollup ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE miss (
  id BYTEA PRIMARY KEY, time BIGINT NOT NULL, test TEXT NOT NULL, tool TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
  why TEXT NOT NULL
);
CREATE INDEX miss_time ON miss (time, id);
