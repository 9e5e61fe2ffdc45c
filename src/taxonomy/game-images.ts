// Images of the games in the included taxonomy, which Depot serves as static files.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { staticPath } from '#lib/static-files.ts'

const FOLDER = join(import.meta.dirname, 'game-images')

/** Names of the files, as they can be in `icon` and `banner` of a game. */
export const GAME_IMAGES = [
  'game-java-icon.svg',
  'game-java-banner.svg',
  'game-bedrock-icon.svg',
  'game-bedrock-banner.svg',
] as const
type GameImage = (typeof GAME_IMAGES)[number]

export function isGameImage(text: string): text is GameImage {
  return (GAME_IMAGES as readonly string[]).includes(text)
}

export const gameImageBytes = (image: GameImage): Buffer => readFileSync(join(FOLDER, image))

const paths = new Map<GameImage, string>()

/** Returns the path of an image, below the path of the public URL. Reads each file only once. */
export function gameImagePath(image: GameImage): string {
  const path = paths.get(image) ?? staticPath(image, gameImageBytes(image))
  paths.set(image, path)
  return path
}
