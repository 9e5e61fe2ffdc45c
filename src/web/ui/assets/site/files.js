// Files that are too large are named before they are sent. The script of pages for work contains this file too.
document.addEventListener('change', ({ target }) => {
  const { maxBytes, tooLarge } = target.dataset
  if (maxBytes === undefined || tooLarge === undefined) return
  target.setCustomValidity([...target.files].some(({ size }) => size > Number(maxBytes)) ? tooLarge : '')
  target.reportValidity()
})
