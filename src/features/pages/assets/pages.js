// What the pages gain from scripts; each works without.

/** Copies the text of a field to the clipboard and says so for a moment. */
function copyFrom(button) {
  const field = document.getElementById(button.dataset.copy)
  const label = button.textContent
  button.hidden = false
  button.addEventListener('click', async () => {
    field.select?.()
    await navigator.clipboard.writeText(field.dataset.text ?? field.value)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = label
    }, 2000)
  })
}

/** Ticks all boxes of a group, or none where all are ticked. */
function tickAll(button) {
  const boxes = [...button.closest('fieldset').querySelectorAll('input[type=checkbox]')]
  const show = () => {
    button.textContent = boxes.every((box) => box.checked) ? 'None' : 'All'
  }
  button.hidden = false
  button.addEventListener('click', () => {
    const tick = !boxes.every((box) => box.checked)
    for (const box of boxes) box.checked = tick
    show()
  })
  for (const box of boxes) box.addEventListener('change', show)
  show()
}

/** Lets a person read the password he types. */
function revealPassword(button) {
  const field = document.getElementById(button.dataset.reveal)
  button.hidden = false
  button.addEventListener('click', () => {
    const isHidden = field.type === 'password'
    field.type = isHidden ? 'text' : 'password'
    button.setAttribute('aria-pressed', String(isHidden))
    field.focus()
  })
}

if (navigator.clipboard !== undefined) document.querySelectorAll('[data-copy]').forEach(copyFrom)
document.querySelectorAll('[data-tick-all]').forEach(tickAll)
document.querySelectorAll('[data-reveal]').forEach(revealPassword)
