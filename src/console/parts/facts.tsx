import type { ComponentChildren } from 'preact'

/** One line of a `dl.facts`. */
export function Fact(shown: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{shown.title}</dt>
      <dd>{shown.children}</dd>
    </>
  )
}
