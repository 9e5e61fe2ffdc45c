// Gallery images in pages. Browsers choose the copy that suits their screen.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { attributes, type Markup } from '#web/ui/html.ts'

type GalleryItem = ProjectView['gallery'][number]

/** Maximum width of an original image that pages offer in addition to its copies, in pixels. */
const ORIGINAL_WIDTH_MAX = 1400

/**
 * Returns the attributes of an `img`: URLs and size. `sizes` is the width in the page; `defaultSize` is the size of
 * images that were stored without one.
 */
export function galleryImage(
  { url, raw_url, width, height, sizes: copies }: GalleryItem,
  { sizes, defaultSize }: { sizes: string; defaultSize: { width: number; height: number } },
): Markup {
  const original = width !== null && width <= ORIGINAL_WIDTH_MAX ? [{ url: raw_url, width }] : []
  const wider = original.filter((each) => !copies.some((copy) => copy.width === each.width))
  const offered = [...copies, ...wider].map((each) => `${each.url} ${each.width}w`)
  return attributes({
    src: url,
    srcset: offered.length > 1 ? offered.join(', ') : null,
    sizes: offered.length > 1 ? sizes : null,
    width: width ?? defaultSize.width,
    height: height ?? defaultSize.height,
  })
}

/** Returns the images of a project in the order of its gallery. */
export function galleryOrder({ gallery }: Pick<ProjectView, 'gallery'>): GalleryItem[] {
  return gallery.toSorted((a, b) => a.ordering - b.ordering)
}
