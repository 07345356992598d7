import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/**
 * Content this far below the window counts as visible, so that it is loaded before it is scrolled
 * to.
 */
const AHEAD = '200px'

/** Whether the element with `ref` is visible, or soon will be; others need not be read. */
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
