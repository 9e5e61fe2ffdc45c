// Turns links to videos into cards with a play button. A script replaces a card by the player when the visitor clicks; without
// the script, the card is a link. Runs after the sanitizer, so that texts of users cannot contain the attributes of a card.
import { type Video, videoOf } from '#lib/text/video-links.ts'
import { escapeText } from '#lib/text/xml.ts'

/** A paragraph whose whole content is a link. Markup of the sanitizer contains no `<` or `>` in attributes and texts. */
const ALONE = /^<p([^<>]*)>\s*<a ([^<>]*)>([\s\S]*)<\/a>\s*$/
/** Any link with a text. Those that replace an embedded player have the class `video`. */
const LINK = /<a ([^<>]*)>([^<>]*)<\/a>/g

/** `show`: returns the URL under which the text shows an image of another host. */
type CardOptions = { word: string; show: (url: string) => string | undefined }

export function videoCards(markup: string, options: CardOptions): string {
  const embedded = markup.replace(LINK, (whole, attributes: string, text: string) =>
    attributes.includes('class="video"') ? (cardOf(attributes, text, options) ?? whole) : whole,
  )
  return embedded
    .split('</p>')
    .map((piece) => {
      const start = piece.lastIndexOf('<p')
      const [, outer, attributes = '', content = ''] = (start === -1 ? null : ALONE.exec(piece.slice(start))) ?? []
      if (outer === undefined || content.includes('<a ') || attributes.includes('data-video=')) return piece
      const card = cardOf(attributes, content, options)
      return card === undefined ? piece : `${piece.slice(0, start)}<p${outer}>${card}`
    })
    .join('</p>')
}

function cardOf(attributes: string, content: string, { word, show }: CardOptions): string | undefined {
  const href = (/(?:^| )href="([^"]*)"/.exec(attributes)?.[1] ?? '').replaceAll('&amp;', '&')
  const video = videoOf(href)
  if (video === undefined) return undefined
  const text = content.replace(/<[^<>]*>/g, '').trim() || (/ alt="([^"]*)"/.exec(content)?.[1] ?? '')
  // The text of a bare URL says less than the name of the host.
  const title = text === '' || /^(?:https?:|www\.)/.test(text) ? word : text
  return videoCard(video, { title, poster: video.poster === undefined ? undefined : show(video.poster) })
}

/** `title`: escaped text. */
function videoCard(
  { url, player, host }: Video,
  { title, poster }: { title: string; poster: string | undefined },
): string {
  const image = poster === undefined ? '' : `<img src="${escapeText(poster)}" alt="" loading="lazy" />`
  const name = ` (${host}.com)`
  const label = title.endsWith(name) ? title : title + name
  return `<a href="${escapeText(url)}" class="video" rel="nofollow ugc noopener" data-video="${escapeText(player)}">${image}<span>${label}</span></a>`
}
