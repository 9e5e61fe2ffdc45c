// The wire shape of the catalogue's counts.
import Type from 'typebox'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const StatisticsView = Type.Object(
  {
    projects: Count('Approved and archived projects'),
    versions: Count('Their listed and archived versions'),
    files: Count('The files of these versions'),
    authors: Count('Accepted members of the teams and organizations of these projects'),
  },
  { title: 'Statistics' },
)
