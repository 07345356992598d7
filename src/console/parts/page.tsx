import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'

/**
 * The frame of every page. Its heading gets the focus, so that the next key press is about this
 * page. It gets it before it is visible, and not again when its title changes: a later move of the
 * focus would take a key that a quick reader has pressed in between.
 */
export function Page(shown: {
  readonly title: string
  /** Shown beside the heading. */
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  const [location] = useLocation()
  useLayoutEffect(() => {
    document.title = `${shown.title} · Countersign`
  }, [shown.title])
  useLayoutEffect(() => {
    heading.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [location])
  return (
    <>
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {shown.title}
        </h1>
        <div class="actions">{shown.actions}</div>
      </header>
      {shown.children}
    </>
  )
}

export function Card(shown: {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <section class="card">
      <header class="card-head">
        <h2>{shown.title}</h2>
        {shown.actions}
      </header>
      {shown.children}
    </section>
  )
}
