// Response schemas of the pages of the operator.
import Type from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { PAGE_KINDS } from './requests.ts'

const fields = {
  kind: Type.Enum(PAGE_KINDS),
  version: Type.Integer({ description: 'Number of the version; the first version is 1' }),
  published: Timestamp,
  asks_again: Type.Boolean({ description: 'Whether the site asks all users to agree to this version of the Terms' }),
}

export const PageView = NamedObject('InstancePage', {
  ...fields,
  text: Type.String({ description: 'Text in Markdown; empty if the version removed the page' }),
})

export const PageVersionsView = NamedObject('InstancePageVersions', {
  versions: Type.Array(
    Type.Object({
      ...fields,
      published_by: Nullable(
        Type.String({ description: 'Username of the operator; null for commands, the admin key and deleted accounts' }),
      ),
      is_empty: Type.Boolean({ description: 'Whether the version removed the page' }),
      agreed: Type.Integer({ description: 'Number of accounts that agreed to this version of the Terms' }),
    }),
    { description: 'The newest 200 versions, newest first' },
  ),
})
