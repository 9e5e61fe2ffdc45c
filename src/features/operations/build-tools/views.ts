// The wire shape of an update file.
import Type from 'typebox'

export const UpdateFileView = Type.Object(
  { homepage: Type.String(), promos: Type.Record(Type.String(), Type.String()) },
  { title: 'UpdateFile' },
)
