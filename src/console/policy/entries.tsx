import type { ComponentChildren } from 'preact'
import { listAt, type Path } from './draft.js'
import type { Edited } from './fields.js'

/** The elements of a list in the draft, each with its fields and a remove button. */
export function Entries(
  shown: Edited & {
    readonly path: Path
    /** The name of one element. */
    readonly name: string
    readonly children: (path: Path) => ComponentChildren
  },
) {
  const { root, set, path, name } = shown
  const list = listAt(root, path)
  return (
    <>
      {[...list.keys()].map((index) => (
        <fieldset key={index} class="entry">
          <legend class="hidden">
            {name} {index + 1}
          </legend>
          {shown.children([...path, index])}
          <button
            type="button"
            class="danger-quiet"
            aria-label={`Remove ${name} ${index + 1}`}
            onClick={() => set(list.length === 1 ? path : [...path, index], undefined)}
          >
            Remove
          </button>
        </fieldset>
      ))}
    </>
  )
}
