// Schemas of the rows of the taxonomy, and the lists that operators can edit.
import Type, { type Static } from 'typebox'
import { Ordering } from '#lib/schema/schema-parts.ts'
import { GAME_IMAGE_PATTERN, URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import { GAME_IMAGES } from './game-images.ts'

const strict = { additionalProperties: false }
const INTEGERS = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }
const Name = Type.String({ pattern: '^[a-z0-9][a-z0-9._+-]*$', maxLength: 64 })
const FieldName = Type.String({ pattern: '^[a-z][a-z0-9_]*$', maxLength: 64 })
// A single time format, so that the strings sort by time.
const Instant = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$', maxLength: 24 })
const Icon = Type.String({ pattern: '^<svg[ >][^]*</svg>$', maxLength: 8192 })
const GameImage = Type.Union([Type.String({ pattern: GAME_IMAGE_PATTERN, maxLength: URL_LENGTH_MAX }), Type.Null()], {
  description: `http or https URL of an image, or one of the images of Depot: ${GAME_IMAGES.join(', ')}`,
})
const Metadata = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: 1024 }), Type.Number(), Type.Boolean()]),
)

/** Whether a tag is not offered any more. What has the tag keeps it, and requests can still name it. */
const hidden = Type.Optional(Type.Boolean())

const Game = Type.Object(
  { slug: Name, name: Type.String({ minLength: 1, maxLength: 64 }), icon: GameImage, banner: GameImage, hidden },
  strict,
)

const Loader = Type.Object(
  {
    name: Name,
    project_types: Type.Array(Name, { minItems: 1, maxItems: 16 }),
    games: Type.Array(Name, { minItems: 1, maxItems: 64 }),
    fields: Type.Array(FieldName, { maxItems: 64 }),
    metadata: Metadata,
    icon: Icon,
    hidden,
  },
  strict,
)

const Category = Type.Object(
  {
    name: Name,
    project_type: Name,
    header: Type.String({ minLength: 1, maxLength: 64 }),
    ordering: Ordering,
    icon: Icon,
    hidden,
  },
  strict,
)

const Field = Type.Object(
  {
    name: FieldName,
    type: Type.Enum([
      'integer',
      'text',
      'boolean',
      'enum',
      'array_integer',
      'array_text',
      'array_boolean',
      'array_enum',
    ]),
    values: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9-]+\\.json$',
        maxLength: 64,
        description: 'File in the folder of the taxonomy with the values of an enumeration',
      }),
    ),
    options: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        minItems: 1,
        maxItems: 1024,
        description: 'Values of an enumeration without a file, in their order',
      }),
    ),
    optional: Type.Boolean(),
    default: Type.Optional(Type.String({ maxLength: 64, description: 'Default of an optional enumeration' })),
    min: Type.Optional(
      Type.Integer({ ...INTEGERS, description: 'Lower limit of an integer, or of the length of a list' }),
    ),
    max: Type.Optional(
      Type.Integer({ ...INTEGERS, description: 'Upper limit of an integer, or of the length of a list' }),
    ),
    created: Instant,
  },
  strict,
)

const EnumValue = Type.Object(
  {
    value: Type.String({ minLength: 1, maxLength: 64 }),
    created: Instant,
    ordering: Type.Optional(Type.Union([Ordering, Type.Null()])),
    metadata: Type.Optional(
      Type.Object(
        {
          type: Type.Optional(Type.Enum(['release', 'snapshot', 'beta', 'alpha'])),
          major: Type.Optional(Type.Boolean()),
        },
        strict,
      ),
    ),
    hidden,
  },
  strict,
)

const LinkPlatform = Type.Object({ name: Name, donation: Type.Boolean(), hidden }, strict)

const License = Type.Object(
  {
    id: Type.String({
      pattern: '^[A-Za-z0-9.-]+$',
      maxLength: 64,
      description: 'SPDX identifier, or `LicenseRef-` and a name',
    }),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'Only of a licence that SPDX does not list' }),
    ),
  },
  strict,
)

/** Prefixes of personal tokens of the code host. */
export const CodeHost = Type.Object(
  { token_prefixes: Type.Array(Type.String({ minLength: 3, maxLength: 64 }), { maxItems: 64 }) },
  strict,
)

export const Names = Type.Array(Name, { minItems: 1, maxItems: 64 })
export const EnumFile = Type.Array(EnumValue, { minItems: 1, maxItems: 10_000 })

/** The lists that operators can edit, by their name in the API. */
export const TAG_LISTS = {
  games: Type.Array(Game, { minItems: 1, maxItems: 256 }),
  loaders: Type.Array(Loader, { minItems: 1, maxItems: 512 }),
  categories: Type.Array(Category, { maxItems: 4096 }),
  game_versions: EnumFile,
  loader_fields: Type.Array(Field, { maxItems: 256 }),
  licenses: Type.Array(License, { maxItems: 256 }),
  link_platforms: Type.Array(LinkPlatform, { maxItems: 256 }),
}
export type TagListName = keyof typeof TAG_LISTS
export type TagLists = { [List in TagListName]: Static<(typeof TAG_LISTS)[List]> }

/** Loader field with the values of the list `game_versions`. */
export const GAME_VERSIONS = 'game_versions'

export type GameRow = Static<typeof Game>
export type LoaderRow = Static<typeof Loader>
export type CategoryRow = Static<typeof Category>
export type FieldRow = Static<typeof Field>
export type EnumValueRow = Static<typeof EnumValue>
export type LinkPlatformRow = Static<typeof LinkPlatform>
export type LicenseRow = Static<typeof License>
