// Sends a feed in one of its formats: Atom (RFC 4287) and JSON Feed 1.1.
import type { FastifyReply } from 'fastify'
import { entityTag } from '#lib/text/json-bytes.ts'
import { withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { sendDocument } from '../machines/send-document.ts'
import { writeAtom } from './atom.ts'
import { type Document, type Feed, type Format, PAGES_MAX, pageOf, stableId } from './feed.ts'

/** Sends a feed. A program that has it gets 304, before any changelog is rendered. */
export async function sendFeed(
  request: PageRequest,
  feed: Feed,
  { format, instance }: { format: Format; instance: { id: string; created: Date } },
): Promise<FastifyReply> {
  const { page, viewer, reply, req, texts } = request
  const newest = Math.max(...feed.entries.map((entry) => Date.parse(entry.updated)))
  const address = req.raw.url ?? ''
  const number = pageOf(request)
  const hasNext = feed.hasMore && number < PAGES_MAX
  const document = {
    ...feed,
    instance: instance.id,
    self: `${page.site.url}${address}`,
    next: hasNext ? `${page.site.url}${withQuery(address, { page: String(number + 1) })}` : undefined,
    updated:
      feed.entries.length === 0 ? (feed.changed ?? instance.created.toISOString()) : new Date(newest).toISOString(),
  }
  if (feed.isSecret === true) void reply.header('x-robots-tag', 'noindex').header('referrer-policy', 'no-referrer')
  const write = format === 'atom' ? writeAtom : writeJsonFeed
  return sendDocument(request, {
    type: format === 'json' ? 'application/feed+json; charset=utf-8' : 'application/atom+xml; charset=utf-8',
    etag: entityTag(JSON.stringify([format, page.language.tag, page.site, document])),
    body: async () => {
      const rendered = await Promise.all(
        feed.entries.map(async ({ markdown = '', project }) =>
          markdown === '' ? undefined : String(await texts.render(markdown, page, project)),
        ),
      )
      return write(page, { ...document, rendered })
    },
    cacheControl: viewer === null && feed.isSecret !== true ? 'public, max-age=300' : 'private, no-cache',
    modifiedAt: Date.parse(document.updated),
    vary: 'accept-language, cookie',
  })
}

function writeJsonFeed({ site: { url }, language }: PageContext, feed: Document): string {
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
