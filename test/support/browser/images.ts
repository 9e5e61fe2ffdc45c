// The images of the documents, taken while the browser tests show their pages.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import sharp from 'sharp'

/** Folder of the images. Default: no images. */
const IMAGES = process.env['IMAGES']
const QUALITY = 78

/** Takes an image of the window, if IMAGES is set and the browser runs scripts. */
export async function takeImage(page: Page, hasScripts: boolean, name: string): Promise<void> {
  if (IMAGES === undefined || !hasScripts) return
  mkdirSync(IMAGES, { recursive: true })
  await sharp(await page.screenshot())
    .webp({ quality: QUALITY, effort: 6 })
    .toFile(join(IMAGES, `${name}.webp`))
}
