// Responses about followed projects.
import Type, { type Static } from 'typebox'
import type { Deps } from '#ports/deps.ts'

const Address = (format: string) =>
  Type.String({ description: `Secret address of the feed as ${format}`, format: 'uri' })

export const FollowFeedView = Type.Object(
  { atom: Address('Atom'), json: Address('JSON Feed') },
  { title: 'FollowFeed', description: 'The addresses are in no other response' },
)

export function toFollowFeedView({ http }: Deps['config'], secret: string): Static<typeof FollowFeedView> {
  const address = `${http.baseUrl}/feed/${secret}`
  return { atom: `${address}.atom`, json: `${address}.json` }
}
