-- +goose Up
-- A stream has a role, and a miss a way. What each Result of the layout before says of both is found out by reading them, which
-- the program does once where refile is 1.
CREATE TABLE stream_new (
  id INTEGER PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, test TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL,
  role TEXT NOT NULL, latest BLOB NOT NULL, UNIQUE (source, target, test, tool, kind, role)
);
INSERT INTO stream_new SELECT id, source, target, test, tool, kind, CASE test WHEN '' THEN 'demand' ELSE 'planned' END, latest FROM stream;
DROP TABLE stream;
ALTER TABLE stream_new RENAME TO stream;

CREATE TABLE miss_new (
  id BLOB PRIMARY KEY, time INTEGER NOT NULL, test TEXT NOT NULL, tool TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
  way TEXT NOT NULL, why TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO miss_new SELECT id, time, test, tool, source, target, '', why FROM miss;
DROP TABLE miss;
ALTER TABLE miss_new RENAME TO miss;
CREATE INDEX miss_time ON miss (time, id);

INSERT OR REPLACE INTO state VALUES ('refile', 1);
