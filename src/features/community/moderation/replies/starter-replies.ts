// Saved replies with which an instance can begin. They are data: moderators add, edit and delete them like their own.
import type { NewReply } from './requests.ts'

const TO_REPORTERS = ['Reports', 'Meldungen'] as const

/** Whether a reply is for users who have reported something, by the topic of the starter replies. */
export const isToReporters = ({ topic }: { topic: string }): boolean => TO_REPORTERS.some((name) => name === topic)

const REPLIES: readonly {
  topic: readonly [string, string]
  title: readonly [string, string]
  body: readonly [string, string]
}[] = [
  {
    topic: ['Description', 'Beschreibung'],
    title: ['Describe what it does', 'Beschreiben, was es tut'],
    body: [
      'Please describe in the text of {project} what it does and how to use it, so that players know what they install.',
      'Bitte beschreibe im Text von {project}, was es tut und wie man es benutzt, damit Spieler wissen, was sie installieren.',
    ],
  },
  {
    topic: ['Description', 'Beschreibung'],
    title: ['Summary instead of a name', 'Kurzbeschreibung statt Name'],
    body: [
      'Please use the summary of {project} to say in one sentence what it does. It should not repeat the name.',
      'Bitte sage in der Kurzbeschreibung von {project} in einem Satz, was es tut. Sie soll nicht den Namen wiederholen.',
    ],
  },
  {
    topic: ['Licence', 'Lizenz'],
    title: ['Permission for the work of others', 'Erlaubnis für fremde Werke'],
    body: [
      'The files of {project} contain the work of others. Please tell us where the authors permit you to publish it, or remove it. See {rule}.',
      'Die Dateien von {project} enthalten fremde Werke. Bitte sage uns, wo die Urheber dir das Veröffentlichen erlauben, oder entferne sie. Siehe {rule}.',
    ],
  },
  {
    topic: ['Files', 'Dateien'],
    title: ['Explain native code or downloads', 'Nativen Code oder Downloads erklären'],
    body: [
      'The file {file} of version {version} contains or downloads programs. Please explain what they do and where their source is.',
      'Die Datei {file} der Version {version} enthält Programme oder lädt sie herunter. Bitte erkläre, was sie tun und wo ihr Quelltext steht.',
    ],
  },
  {
    topic: ['Files', 'Dateien'],
    title: ['Wrong loaders or game versions', 'Falsche Loader oder Spielversionen'],
    body: [
      'Version {version} names loaders or game versions that its files do not support. Please correct them: {link}',
      'Version {version} nennt Loader oder Spielversionen, die ihre Dateien nicht unterstützen. Bitte korrigiere sie: {link}',
    ],
  },
  {
    topic: ['Rules', 'Regeln'],
    title: ['Against the rules', 'Gegen die Regeln'],
    body: [
      '{project} does not follow {rule}. You can change it and submit it again.',
      '{project} verstößt gegen {rule}. Du kannst es ändern und erneut einreichen.',
    ],
  },
  {
    topic: ['Spam', 'Spam'],
    title: ['Spam', 'Spam'],
    body: [
      'This account publishes spam, which {rule} do not allow.',
      'Dieses Konto veröffentlicht Spam. Das verstößt gegen {rule}.',
    ],
  },
  {
    topic: TO_REPORTERS,
    title: ['Thanks for the report', 'Danke für die Meldung'],
    body: ['Thank you for your report. We have acted on it.', 'Danke für deine Meldung. Wir haben etwas unternommen.'],
  },
  {
    topic: TO_REPORTERS,
    title: ['No violation', 'Kein Verstoß'],
    body: [
      'Thank you for your report. We have looked at it and found nothing against {rule}.',
      'Danke für deine Meldung. Wir haben sie geprüft und nichts gefunden, was gegen {rule} verstößt.',
    ],
  },
]

export const STARTER_REPLIES: readonly NewReply[] = (['en', 'de'] as const).flatMap((language, index) =>
  REPLIES.map(({ topic, title, body }) => ({
    language,
    topic: topic[index] ?? '',
    title: title[index] ?? '',
    body: body[index] ?? '',
  })),
)
