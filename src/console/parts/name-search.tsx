import { useTyped } from './typed.js'

/** As the service takes it. */
const CHARS_MAX = 100

/** What is looked for by name; it is in the address of the page. */
export function NameSearch(shown: {
  readonly value: string
  readonly onSearch: (value: string) => void
  /** How many were found, once it is known. */
  readonly found: string | null
}) {
  const [text, setText] = useTyped(shown.value)
  return (
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault()
          shown.onSearch(text.trim())
        }}
      >
        <label>
          Find by name
          <input
            type="search"
            name="search"
            value={text}
            placeholder="how its words begin"
            maxLength={CHARS_MAX}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <button type="submit">Find</button>
        <p class="small mute" role="status">
          {shown.found}
        </p>
      </form>
    </search>
  )
}

/** @param rows those that are shown */
export function foundWords(rows: number, hasMore: boolean): string {
  return `${rows}${hasMore ? ', and more' : ''} found.`
}
