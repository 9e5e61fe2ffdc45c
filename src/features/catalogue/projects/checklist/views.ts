// Response schema of the checklist of a project.

import Type from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import { WEIGHTS } from './checklist.ts'

export const ChecklistItemView = NamedObject('ChecklistItem', {
  id: Type.String({ description: 'Name of the item' }),
  weight: Type.Enum([...WEIGHTS], {
    description: '`needed`: the project cannot be submitted without it. `advised`: recommended',
  }),
  field: Type.String({ description: 'Field of the project that completes the item' }),
  done: Type.Boolean(),
})
