// Launchers that a link with a scheme of the launcher opens with a file.
import Type, { type Static } from 'typebox'

/** Placeholder for the encoded URL of the file. */
const PLACE = '{url}'
/** Schemes that browsers handle themselves, and the letters of drives. */
const OWN_SCHEMES = /^(?:.|https?|ftp|file|data|blob|javascript|about|mailto|view-source):/i

/** Schema of `launchers.json`. */
export const LauncherRows = Type.Array(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 64 }),
      link: Type.String({ pattern: '^[a-z][a-z0-9.+-]*:[!-z|~]*\\{url\\}[!-z|~]*$', maxLength: 256 }),
      project_types: Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 64 }),
      source: Type.String({ pattern: '^https://[!-~]+$', maxLength: 512 }),
    },
    { additionalProperties: false },
  ),
  { maxItems: 32 },
)
/** `project_types`: types whose files the launcher opens. `source`: where its authors document the link. */
export type Launcher = Static<typeof LauncherRows>[number]

/** Returns the errors that the schema cannot express: types that do not exist, and links that a browser would handle. */
export function launcherErrors(launchers: readonly Launcher[], projectTypes: readonly string[]): string[] {
  return launchers.flatMap(({ name, link, project_types }) => [
    ...(OWN_SCHEMES.test(link) ? [`launchers.json: the link of ${name} must have the scheme of a launcher`] : []),
    ...project_types
      .filter((type) => !projectTypes.includes(type))
      .map((type) => `launchers.json: unknown project type ${type}`),
  ])
}

/** Returns the link that opens the file at `url`. */
export function launcherLink({ link }: Launcher, url: string): string {
  return link.replaceAll(PLACE, () => encodeURIComponent(url))
}
