// Shows the files that are chosen in a field before they are sent, and removes single ones.
for (const field of document.querySelectorAll('[data-chosen]')) {
  const list = document.createElement('ul')
  list.className = 'thumbs'
  field.parentElement.after(list)

  const remove = (file) => {
    const kept = new DataTransfer()
    for (const each of field.files) if (each !== file) kept.items.add(each)
    field.files = kept.files
    field.dispatchEvent(new Event('change', { bubbles: true }))
    const next = list.querySelector('button') ?? field
    next.focus()
  }

  // A canvas instead of an image: the content policy permits no images from memory.
  const draw = async (file, canvas) => {
    const image = await createImageBitmap(file)
    const scale = Math.min(1, 350 / image.width)
    canvas.width = Math.max(1, Math.round(image.width * scale))
    canvas.height = Math.max(1, Math.round(image.height * scale))
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height)
    image.close()
  }

  field.addEventListener('change', () => {
    const items = [...field.files].map((file) => {
      const canvas = document.createElement('canvas')
      canvas.setAttribute('aria-hidden', 'true')
      // The name remains for a file that the browser cannot show.
      draw(file, canvas).catch(() => canvas.remove())
      const name = document.createElement('p')
      name.className = 'long'
      name.textContent = file.name
      const button = document.createElement('button')
      button.type = 'button'
      button.className = 'tight'
      button.textContent = field.dataset.chosen
      button.setAttribute('aria-label', `${field.dataset.chosen}: ${file.name}`)
      button.addEventListener('click', () => remove(file))
      const item = document.createElement('li')
      item.append(canvas, name, button)
      return item
    })
    list.replaceChildren(...items)
  })
}
