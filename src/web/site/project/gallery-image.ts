// Gallery pictures in pages: browsers choose the copy that fits their screen.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { attributes, type Markup } from '#platform/html/html.ts'

type GalleryItem = ProjectView['gallery'][number]

/** A picture itself is offered beside its copies up to this width; wider ones weigh more than a page should. */
const OWN_WIDTH_MAX = 1400

/**
 * The attributes of an `img`: addresses and size. `sizes` says how wide it is shown; `otherwise` is the size of pictures
 * that were stored without theirs.
 */
export function gallerySource(
  { url, raw_url, width, height, sizes: copies }: GalleryItem,
  { sizes, otherwise }: { sizes: string; otherwise: { width: number; height: number } },
): Markup {
  const own = width !== null && width <= OWN_WIDTH_MAX ? [{ url: raw_url, width }] : []
  const wider = own.filter((each) => !copies.some((copy) => copy.width === each.width))
  const offered = [...copies, ...wider].map((each) => `${each.url} ${each.width}w`)
  return attributes({
    src: url,
    srcset: offered.length > 1 ? offered.join(', ') : null,
    sizes: offered.length > 1 ? sizes : null,
    width: width ?? otherwise.width,
    height: height ?? otherwise.height,
  })
}
