-- +goose Up
-- series was stream<<16 | metric and becomes metric<<32 | stream, so that a look at all pairs reads neighbours. A new table
-- is written in one pass, however large the old one is; only rows of one start change places.
CREATE TABLE rollup_new (
  level INTEGER NOT NULL, start INTEGER NOT NULL, series INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (level, start, series)
) WITHOUT ROWID;
INSERT INTO rollup_new SELECT level, start, ((series & 65535) << 32) | (series >> 16), data FROM rollup;
DROP TABLE rollup;
ALTER TABLE rollup_new RENAME TO rollup;
