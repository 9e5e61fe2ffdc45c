// Passkeys, and printing. `site.js` loads this script on pages where an element names it.
const renewMs = 10 * 60_000

const readOptions = async (url) => {
  const answer = await fetch(url, { method: 'POST' })
  if (!answer.ok) throw new Error(answer.statusText)
  return PublicKeyCredential.parseRequestOptionsFromJSON(await answer.json())
}

// Sends the form of a part with the response of the authenticator, through the part's own button or the form's first one.
const send = (part, button, credential) => {
  const { form } = button
  part.querySelector('input').value = JSON.stringify(credential.toJSON())
  // The other fields can be empty: the passkey replaces the password.
  form.noValidate = true
  form.requestSubmit(button.type === 'submit' ? button : form.querySelector('button:not([type=button])'))
}

// Offers passkeys in the list of the field for the name, until the visitor presses the button. A challenge expires.
const offerInField = (part, button) => {
  let control
  const offer = async () => {
    const own = new AbortController()
    control = own
    const timer = setTimeout(() => {
      own.abort()
      void offer()
    }, renewMs)
    try {
      const publicKey = await readOptions(part.dataset.options)
      send(part, button, await navigator.credentials.get({ publicKey, mediation: 'conditional', signal: own.signal }))
    } catch {
      // The visitor signs in another way.
    }
    if (own.signal.aborted) clearTimeout(timer)
  }
  void offer()
  return () => control.abort()
}

const setUp = async (part) => {
  if (typeof window.PublicKeyCredential?.parseRequestOptionsFromJSON !== 'function') return
  const [button, said] = [part.querySelector('button'), part.querySelector('[role=alert]')]
  const { passkey, options, failed, known, autofill } = part.dataset
  part.hidden = false
  let stop = () => undefined
  const ask = async () =>
    passkey === 'create'
      ? navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(options)),
        })
      : navigator.credentials.get({ publicKey: await readOptions(options) })
  let isDone = false
  button.addEventListener('click', async (event) => {
    if (isDone) return
    event.preventDefault()
    if (passkey === 'create' && !button.form.reportValidity()) return
    stop()
    said.hidden = true
    try {
      const credential = await ask()
      isDone = true
      send(part, button, credential)
    } catch ({ name }) {
      said.textContent = name === 'InvalidStateError' ? known : failed
      said.hidden = false
    }
  })
  if (autofill === undefined || (await PublicKeyCredential.isConditionalMediationAvailable?.()) !== true) return
  stop = offerInField(part, button)
}

for (const part of document.querySelectorAll('[data-passkey]')) void setUp(part)

for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false
  button.addEventListener('click', () => print())
}
