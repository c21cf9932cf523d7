-- +goose Up
-- A stream has a subject, or none; none of what is there has one. From here on rows may hold distributions, too.
CREATE TABLE stream_new (
  id INTEGER PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, test TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL,
  role TEXT NOT NULL, subject TEXT NOT NULL, latest BLOB NOT NULL, UNIQUE (source, target, test, tool, kind, role, subject)
);
INSERT INTO stream_new SELECT id, source, target, test, tool, kind, role, '', latest FROM stream;
DROP TABLE stream;
ALTER TABLE stream_new RENAME TO stream;
