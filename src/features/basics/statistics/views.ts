import Type from 'typebox'
import { NamedObject } from '#lib/schema/schema-parts.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const StatisticsView = NamedObject('Statistics', {
  projects: Count('Number of approved and archived projects'),
  versions: Count('Number of their listed and archived versions'),
  files: Count('Number of files in these versions'),
  authors: Count('Number of accepted members in the teams and organizations of these projects'),
})
