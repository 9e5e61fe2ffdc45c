// Images of the games in the included taxonomy, which Depot serves as static files.

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
