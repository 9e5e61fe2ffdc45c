// Rules for choosing versions and for writing packs: loaders that can run the content of others, projects that replace
// others on a loader, and the names that pack formats use.
import Type, { type Static } from 'typebox'

const strict = { additionalProperties: false }
const Name = Type.String({ pattern: '^[a-z0-9][a-z0-9._+-]*$', maxLength: 64 })
const Names = Type.Array(Name, { minItems: 1, maxItems: 64 })
const Id = Type.String({ pattern: '^[0-9A-Za-z]{1,11}$', maxLength: 11 })
const Folder = Type.String({ pattern: '^[a-z0-9_-]+$', maxLength: 64 })

/** `installer`: page of the installer. `commands` can contain `{game_version}` and `{loader_version}`. */
const ServerHint = Type.Object(
  {
    installer: Type.String({ pattern: '^https://[!-~]+$', maxLength: 512 }),
    commands: Type.Array(Type.String({ pattern: '^[ -~]+$', maxLength: 512 }), { minItems: 1, maxItems: 8 }),
  },
  strict,
)

export const ResolvingRules = Type.Object(
  {
    /** Other names of loaders in requests. */
    aliases: Type.Record(Type.String({ maxLength: 64 }), Name),
    /** Requests for one of `loaders` also get versions for `also`, if no version for the loader itself is possible. */
    families: Type.Array(Type.Object({ loaders: Names, also: Names }, strict), { maxItems: 64 }),
    /** On the loader, a requirement of `project` means the project `by`; null if the loader contains it. */
    substitutes: Type.Array(Type.Object({ loader: Name, project: Id, by: Type.Union([Id, Type.Null()]) }, strict), {
      maxItems: 1000,
    }),
    /** The keys of a loader in pack formats, and how a server with the loader is installed and started. */
    pack_loaders: Type.Record(
      Name,
      Type.Object(
        { mrpack: Type.Optional(Name), packwiz: Type.Optional(Name), server: Type.Optional(ServerHint) },
        strict,
      ),
    ),
    /** Folder of an instance by the type of project. The first type of a version that has a folder counts. */
    pack_folders: Type.Record(Name, Folder),
  },
  strict,
)
export type ResolvingRules = Static<typeof ResolvingRules>

/** Returns the errors that the schema cannot express: names of loaders and types that do not exist. */
export function resolvingErrors(
  { aliases, families, pack_loaders, pack_folders }: ResolvingRules,
  { loaders, projectTypes }: { loaders: readonly string[]; projectTypes: readonly string[] },
): string[] {
  const named = [
    ...Object.values(aliases),
    ...families.flatMap((family) => [...family.loaders, ...family.also]),
    ...Object.keys(pack_loaders),
  ]
  return [
    ...named.filter((name) => !loaders.includes(name)).map((name) => `resolving.json: unknown loader ${name}`),
    ...Object.keys(pack_folders)
      .filter((name) => !projectTypes.includes(name))
      .map((name) => `resolving.json: unknown project type ${name}`),
  ]
}
