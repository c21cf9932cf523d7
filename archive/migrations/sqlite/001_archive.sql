-- +goose Up
-- What each table holds: docs/archive.md. Times are ns since 1970 unless a line says otherwise.
CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO state VALUES ('moved', 0), ('upto', 0), ('pruned', 0), ('restoring', 0);

CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE stream (
  id INTEGER PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, test TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL,
  latest BLOB NOT NULL, UNIQUE (source, target, test, tool, kind)
);

-- day: of the newest Result in it, since 1970. samples: whether any Result in it has some.
CREATE TABLE block (
  id INTEGER PRIMARY KEY, day INTEGER NOT NULL, tool TEXT NOT NULL, samples INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE INDEX block_tool ON block (tool, day);
CREATE TABLE result (
  id BLOB PRIMARY KEY, time INTEGER NOT NULL, stream INTEGER NOT NULL, status INTEGER NOT NULL, block INTEGER NOT NULL, line INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX result_time ON result (time, id, stream);
CREATE INDEX result_troubled ON result (status, time, id) WHERE status > 0;

CREATE TABLE journal (id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, data BLOB NOT NULL);
-- slot: of 20 minutes, since 1970. generation: in which it was moved, so that nothing is read to add to a slot.
CREATE TABLE points (
  slot INTEGER NOT NULL, stream INTEGER NOT NULL, generation INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (slot, stream, generation)
) WITHOUT ROWID;
-- level: index of the step. start: of the row, in seconds since 1970.
CREATE TABLE rollup (
  level INTEGER NOT NULL, start INTEGER NOT NULL, series INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (level, start, series)
) WITHOUT ROWID;

CREATE TABLE miss (
  id BLOB PRIMARY KEY, time INTEGER NOT NULL, test TEXT NOT NULL, tool TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
  why TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX miss_time ON miss (time, id);
