// Writes a feed as JSON Feed 1.1.
import type { PageContext } from '#web/ui/page-context.ts'
import { type Document, stableId } from './feed.ts'

export function writeJsonFeed({ site: { url }, language }: PageContext, feed: Document): string {
  const items = feed.entries.map((entry, index) => {
    const html = feed.rendered[index]
    const { author, file } = entry
    return {
      id: stableId(feed.instance, entry.kind, entry.id),
      url: `${url}${entry.path}`,
      title: entry.title,
      ...(html === undefined ? { content_text: entry.summary } : { content_html: html, summary: entry.summary }),
      date_published: entry.published,
      date_modified: entry.updated,
      ...(author === undefined ? {} : { authors: [{ name: author.name, url: `${url}${author.path}` }] }),
      tags: entry.tags,
      ...(file === undefined
        ? {}
        : { attachments: [{ url: file.url, mime_type: file.type, title: file.filename, size_in_bytes: file.size }] }),
    }
  })
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: feed.title,
    ...(feed.description === undefined ? {} : { description: feed.description }),
    home_page_url: `${url}${feed.path}`,
    feed_url: feed.self,
    ...(feed.next === undefined ? {} : { next_url: feed.next }),
    icon: `${url}/favicon.ico`,
    language: language.tag,
    items,
  })
}
