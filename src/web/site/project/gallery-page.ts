// The gallery of a project: all images, and a viewer for one image with links to the adjacent images.
import type { FastifyReply } from 'fastify'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { videoOf } from '#lib/text/video-links.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { assetHref, icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { galleryImage, galleryOrder } from './gallery-image.ts'
import { loadProject, type ProjectData } from './project-data.ts'
import { projectPage } from './project-frame.ts'

type Item = ProjectView['gallery'][number]

/** Wide windows show two images next to each other. */
const IN_GALLERY = { sizes: '(min-width: 44rem) 38rem, 100vw', defaultSize: { width: 700, height: 394 } }
const IN_VIEWER = { sizes: '(min-width: 80rem) 77rem, 100vw', defaultSize: { width: 1400, height: 788 } }

/** Shows all images, or the image whose number the query contains. */
export async function showGallery(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { page, show, query, language } = request
  const data = await loadProject(request, project)
  const images = galleryOrder(data.view)
  const chosen = Number(/^[1-9]\d{0,3}$/.exec(query('image'))?.[0] ?? 0)
  const image = images[chosen - 1]
  const isMissing = query('image') !== '' && image === undefined
  const title =
    image === undefined
      ? language.t('site.title.gallery', { name: data.view.name })
      : imageName(page, data, { image, number: chosen })
  const body = html`<div class="section-head"><h1>${language.t('site.tab.gallery')}</h1></div>
${image === undefined ? allImages(page, data, images) : viewer(page, data, { images, image, number: chosen })}`
  return show(projectPage(request, data, { tab: '/gallery', title, body, status: isMissing ? 404 : 200 }))
}

/** Returns the path of the viewer. The fragment scrolls to the image. */
export const imagePath = (project: string, number: number): string => `${project}/gallery?image=${number}#image`

function imageName(
  { language }: PageContext,
  { view }: ProjectData,
  { image, number }: { image: Item; number: number },
): string {
  return image.name ?? language.t('site.picture', { number, name: view.name })
}

function allImages(page: PageContext, data: ProjectData, images: readonly Item[]): Markup {
  const { language } = page
  if (images.length === 0) return emptyState(page, { icon: 'image', title: language.t('site.gallery.none') })
  const items = images.map((image, index) => {
    const number = index + 1
    const name = imageName(page, data, { image, number })
    const shown = html`<img${galleryImage(image, IN_GALLERY)} alt="${image.video === null && name}" loading="lazy">`
    const link = attributes({ href: pathTo(page, imagePath(data.path, number)) })
    return html`<li><figure>${videoCard({ image, name, shown }) ?? html`<a${link}>${shown}</a>`}${caption(image)}</figure></li>
`
  })
  return html`${styles(page, images)}<ul class="gallery"${fullScreen(page, images)}>${items}</ul>`
}

/** Returns the texts of the script that opens an image in the whole window; nothing for a gallery of videos only. */
function fullScreen(page: PageContext, images: readonly Item[]): Part {
  const { t } = page.language
  const { length: count } = images
  const texts = {
    previous: t('project.gallery.previous'),
    next: t('project.gallery.next'),
    close: t('project.gallery.close'),
    number: images.map((_each, index) => t('project.gallery.number', { number: index + 1, count })),
  }
  return (
    images.some(({ video }) => video === null) &&
    attributes({ 'data-script': assetHref(page, 'gallery.js'), 'data-gallery': JSON.stringify(texts) })
  )
}

/** The card of a video contains its name. */
function caption({ name: given, description, video }: Item): Markup | false {
  const name = video === null ? given : null
  return (
    (name !== null || description !== null) &&
    html`<figcaption dir="auto">${name !== null && html`<b>${name}</b> `}${description}</figcaption>`
  )
}

/** Returns the card of a video with its preview; undefined for an image. A script replaces the card by the player. */
function videoCard({ image, name, shown }: { image: Item; name: string; shown: Markup }): Markup | undefined {
  const video = videoOf(image.video ?? '')
  if (video === undefined) return undefined
  const link = { href: video.url, class: 'video', rel: 'nofollow ugc noopener', 'data-video': video.player }
  return html`<a${attributes(link)}>${shown}<span dir="auto">${name} (${video.host}.com)</span></a>`
}

const styles = (page: PageContext, images: readonly Item[]): Markup =>
  html`<link rel="stylesheet" href="${assetHref(page, 'gallery.css')}">${images.some(({ video }) => video !== null) && html`<link rel="stylesheet" href="${assetHref(page, 'video.css')}">`}`

/** A script moves to the adjacent images with the arrow keys and by swiping, and back to all images with Escape. */
function viewer(
  page: PageContext,
  data: ProjectData,
  { images, image, number }: { images: readonly Item[]; image: Item; number: number },
): Markup {
  const { language } = page
  const gallery = pathTo(page, `${data.path}/gallery`)
  const step = (to: number, rel: 'prev' | 'next') => {
    const text = language.t(rel === 'prev' ? 'project.gallery.previous' : 'project.gallery.next')
    const name = rel === 'prev' ? 'previous' : 'next'
    return images[to - 1] === undefined
      ? html`<span></span>`
      : html`<a class="button" href="${pathTo(page, imagePath(data.path, to))}" rel="${rel}">${rel === 'prev' && icon(page, name)}${text}${rel === 'next' && icon(page, name)}</a>`
  }
  const name = imageName(page, data, { image, number })
  const shown = html`<img${galleryImage(image, IN_VIEWER)} alt="${image.video === null && name}" fetchpriority="high">`
  return html`${styles(page, [image])}<div class="viewer" id="image" data-steps><figure>
${videoCard({ image, name, shown }) ?? shown}
${caption(image)}</figure>
<nav class="acts" aria-label="${language.t('site.tab.gallery')}">${step(number - 1, 'prev')}<span class="num">${language.t('project.gallery.number', { number, count: images.length })}</span>${step(number + 1, 'next')}<a class="button" href="${gallery}" rel="up">${icon(page, 'grid')}${language.t('project.gallery.all')}</a><a class="button" href="${image.raw_url}">${icon(page, 'external')}${language.t('project.gallery.original')}</a></nav>
</div>`
}
