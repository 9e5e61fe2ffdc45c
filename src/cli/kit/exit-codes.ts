/** The exit codes of all commands. */
export const EXIT_CODES = [
  [0, 'The command has done its work'],
  [
    1,
    'The command has failed, or `depot doctor` has found an error; the last line of standard error, or the findings, say what to do',
  ],
  [2, 'The arguments are wrong; the usage follows the message'],
  [130, 'A second Ctrl-C has ended `depot serve` immediately'],
] as const
