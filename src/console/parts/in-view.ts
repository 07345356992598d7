import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** So much below the window counts as in it: what is scrolled to is there by then. */
const AHEAD = '200px'

/** Whether what `ref` is put on can be seen now, or soon: what cannot be need not be read. */
export function useInView<T extends Element>(): readonly [ref: RefObject<T>, isInView: boolean] {
  const ref = useRef<T>(null)
  const [isInView, see] = useState(false)
  useEffect(() => {
    if (ref.current === null) return
    const observer = new IntersectionObserver(
      (entries) => see(entries.at(-1)?.isIntersecting === true),
      { rootMargin: AHEAD },
    )
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return [ref, isInView]
}
