// The claim of a review: when it ends, the bar with the state of the claim is loaded again. What was typed stays.
import { say, swap } from './base.js'

const ID = 'claim'
let timer

const watch = (bar) => {
  clearTimeout(timer)
  const left = Number(bar?.dataset.left ?? Number.NaN)
  if (Number.isNaN(left)) return
  const ends = Date.now() + left * 1000
  // Timers do not run while a computer sleeps.
  const check = async () => {
    if (Date.now() < ends) {
      timer = setTimeout(check, Math.min(ends - Date.now(), 15_000))
      return
    }
    await swap(ID, location.href)
    say(document.getElementById(ID)?.querySelector('span')?.textContent ?? '')
  }
  timer = setTimeout(check)
}

document.addEventListener('swapped', ({ detail }) => {
  if (detail.id === ID) watch(detail)
})
watch(document.getElementById(ID))
