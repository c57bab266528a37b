-- Make the index of the chunks that the site has now. Run it after each crawl.
DROP TABLE IF EXISTS search;
CREATE VIRTUAL TABLE search USING fts5(title, breadcrumb, text, link UNINDEXED, tokenize = 'porter unicode61');
INSERT INTO search SELECT title, breadcrumb, text, url || CASE anchor WHEN '' THEN '' ELSE '#' || anchor END FROM records_chunk;

-- Search it: words of titles and headings count more.
SELECT link, breadcrumb, snippet(search, 2, '[', ']', '…', 12) AS found FROM search
WHERE search MATCH 'import records' ORDER BY bm25(search, 4, 4, 1) LIMIT 5;
