"""A minimal Scrapy spider: every HTML page of one host, with the fields Seine writes.

    scrapy runspider pages.py -a url=URL -s CONCURRENT_REQUESTS=16 -s CONCURRENT_REQUESTS_PER_DOMAIN=16 -O out.jsonl
    scrapy runspider pages.py -a starts=FILE -a scope=REGEXP -s DOWNLOAD_DELAY=10 … -O out.jsonl

Links and text are taken the way Scrapy's documentation shows. Scrapy has no zstd; its JSON lines are left uncompressed.
"""

from urllib.parse import urlsplit

import scrapy
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

TEXT = "//body//text()[not(parent::script or parent::style)]"


class Pages(scrapy.Spider):
    name = "pages"
    custom_settings = {
        "ROBOTSTXT_OBEY": False,
        "DOWNLOAD_DELAY": 0,
        "LOG_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,  # it would listen on a port
    }

    def __init__(self, url=None, starts=None, scope=None, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.starts = [url] if url else open(starts).read().split()
        self.links = LinkExtractor(
            allow=[scope] if scope else [],
            allow_domains=[urlsplit(url).netloc] if url else [],
            tags=("a", "area", "iframe", "frame"),
            attrs=("href", "src"),
        )

    def start_requests(self):
        for url in self.starts:
            yield scrapy.Request(url)  # unlike start_urls, this is not fetched again when a page links it

    def parse(self, response):
        if not isinstance(response, HtmlResponse):
            return
        text = " ".join(response.xpath(TEXT).getall())
        yield {
            "url": response.url,
            "title": response.xpath("normalize-space(//title)").get(),
            "text": " ".join(text.split()),
        }
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
