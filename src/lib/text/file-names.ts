// Names of files on the systems on which people unpack them.

/** Returns the form that is equal for two names if they are one file on Windows or macOS: of any case, composed or not. */
export function fileNameKey(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
