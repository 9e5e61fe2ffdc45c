// Links to videos of YouTube and Vimeo.

export type Video = {
  host: 'youtube' | 'vimeo'
  /** The page of the video. */
  url: string
  /** The player that starts immediately, in the form with the fewest cookies. */
  player: string
  /** Image of the video; undefined if its URL is unknown without a request. */
  poster?: string
}

const YOUTUBE_ID = /^[\w-]{11}$/
const VIMEO_PATH = /^\/(?:video\/)?(\d{4,12})(?:\/([0-9a-f]{6,16}))?\/?$/

/** Origins of the players, for Content-Security-Policy. */
export const PLAYER_ORIGINS = ['https://www.youtube-nocookie.com', 'https://player.vimeo.com'] as const

/** Returns the video that a URL leads to; undefined for other URLs. */
export function videoOf(text: string): Video | undefined {
  const url = URL.parse(text.startsWith('//') ? `https:${text}` : text)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.port !== '') return undefined
  const host = url.hostname.replace(/^(?:www|m)\./, '')
  if (host === 'vimeo.com' || host === 'player.vimeo.com') return vimeo(url)
  const id = youtubeId(host, url)
  if (id === undefined || !YOUTUBE_ID.test(id)) return undefined
  return {
    host: 'youtube',
    url: `https://www.youtube.com/watch?v=${id}`,
    player: `https://www.youtube-nocookie.com/embed/${id}?autoplay=1`,
    poster: `https://i.ytimg.com/vi/${id}/hqdefault.jpg`,
  }
}

function youtubeId(host: string, { pathname, searchParams }: URL): string | undefined {
  if (host === 'youtu.be') return pathname.slice(1)
  if (host !== 'youtube.com' && host !== 'youtube-nocookie.com') return undefined
  if (pathname === '/watch') return searchParams.get('v') ?? undefined
  return /^\/(?:embed|shorts|live)\/([^/]+)$/.exec(pathname)?.[1]
}

function vimeo({ pathname, searchParams }: URL): Video | undefined {
  const [, id, secret = searchParams.get('h') ?? ''] = VIMEO_PATH.exec(pathname) ?? []
  if (id === undefined || !/^[0-9a-f]{0,16}$/.test(secret)) return undefined
  return {
    host: 'vimeo',
    url: `https://vimeo.com/${id}${secret === '' ? '' : `/${secret}`}`,
    player: `https://player.vimeo.com/video/${id}?dnt=1&autoplay=1${secret === '' ? '' : `&h=${secret}`}`,
  }
}
