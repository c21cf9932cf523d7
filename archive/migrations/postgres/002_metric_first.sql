-- +goose Up
-- series was stream<<16 | metric and becomes metric<<32 | stream, so that a look at all pairs reads neighbours. Without the
-- key meanwhile, since a new one may be another row's old one.
ALTER TABLE rollup DROP CONSTRAINT rollup_pkey;
UPDATE rollup SET series = ((series & 65535) << 32) | (series >> 16);
ALTER TABLE rollup ADD PRIMARY KEY (level, start, series);
