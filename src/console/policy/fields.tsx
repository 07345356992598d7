import { useState } from 'preact/hooks'
import { field, type Json, listAt, type Path, textAt } from './draft.js'
import { EFFECT_WORDS } from './wire.js'

/** Form fields: each shows the draft's value at a path, and changes only that. */
export interface Edited {
  readonly root: Json
  readonly set: (path: Path, value: Json | undefined) => void
}

interface At extends Edited {
  readonly label: string
  readonly path: Path
}

/** An empty field is omitted. */
export function TextField(
  shown: At & { readonly placeholder?: string; readonly inputMode?: 'decimal' | 'numeric' },
) {
  const { root, set, label, path, placeholder, inputMode } = shown
  return (
    <label>
      {label}
      <input
        value={textAt(root, path)}
        spellcheck={false}
        autocomplete="off"
        {...(placeholder === undefined ? {} : { placeholder })}
        {...(inputMode === undefined ? {} : { inputMode })}
        onInput={({ currentTarget }) =>
          set(path, currentTarget.value === '' ? undefined : currentTarget.value)
        }
      />
    </label>
  )
}

/** A whole number on the wire; other text stays text, and the service reports it. */
export function NumberField(shown: At & { readonly placeholder?: string }) {
  const { set, path } = shown
  return (
    <TextField
      {...shown}
      inputMode="numeric"
      set={(_path, value) => set(path, /^\d{1,9}$/.test(String(value)) ? Number(value) : value)}
    />
  )
}

export function ChoiceField(
  shown: At & { readonly options: Readonly<Record<string, string>>; readonly none?: string },
) {
  const { root, set, label, path, options, none } = shown
  const value = textAt(root, path)
  return (
    <label>
      {label}
      <select
        value={value}
        onChange={({ currentTarget }) =>
          set(path, currentTarget.value === '' ? undefined : currentTarget.value)
        }
      >
        {(none !== undefined || value === '') && <option value="">{none ?? 'Choose'}</option>}
        {Object.entries(options).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
        {value !== '' && !Object.hasOwn(options, value) && <option value={value}>{value}</option>}
      </select>
    </label>
  )
}

export function EffectField(shown: At) {
  return <ChoiceField {...shown} options={EFFECT_WORDS} />
}

/** Selects values of a list; if none is selected, the condition is omitted. */
export function SetField(
  shown: At & { readonly options: readonly (readonly [value: string | number, words: string])[] },
) {
  const { root, set, label, path, options } = shown
  const chosen = listAt(root, path)
  return (
    <fieldset>
      <legend>{label}</legend>
      <div class="choices">
        {options.map(([value, words]) => (
          <label key={value} class="choice">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={({ currentTarget }) => {
                const others = chosen.filter((one) => one !== value)
                const next = currentTarget.checked ? [...others, value] : others
                set(path, next.length === 0 ? undefined : next)
              }}
            />
            <span>{words}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** One value per line; an empty field omits the condition. */
export function LinesField(shown: At & { readonly placeholder?: string }) {
  const { root, set, label, path, placeholder } = shown
  const lines = listAt(root, path).map(String)
  const [typed, type] = useState(lines.join('\n'))
  // The typed text stays as it is, including blank lines, until the list is changed in another
  // place.
  const text = sameLines(linesOf(typed), lines) ? typed : lines.join('\n')
  return (
    <label>
      {label}
      <textarea
        rows={Math.min(6, Math.max(1, text.split('\n').length))}
        value={text}
        spellcheck={false}
        {...(placeholder === undefined ? {} : { placeholder })}
        onInput={({ currentTarget }) => {
          const next = linesOf(currentTarget.value)
          type(currentTarget.value)
          set(path, next.length === 0 ? undefined : next)
        }}
      />
    </label>
  )
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function sameLines(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index])
}

/** Shows what the form has no field for, unchanged. */
export function Unedited(
  shown: Edited & { readonly path: Path; readonly names: readonly string[] },
) {
  const { root, path, names } = shown
  return (
    <div class="notice">
      <p class="small">Other fields in the JSON:</p>
      <ul class="small">
        {names.map((name) => (
          <li key={name}>
            <code>
              {name}: {JSON.stringify(field(root, [...path, name]))}
            </code>
          </li>
        ))}
      </ul>
    </div>
  )
}
