import { useTyped } from './typed.js'

/** The service's limit. */
const CHARS_MAX = 100

/** A search by name; it is in the page's address. */
export function NameSearch(shown: {
  readonly value: string
  readonly onSearch: (value: string) => void
  /** The number of matches, once known. */
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
            placeholder="beginning of a word"
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

/** @param rows the number of rows shown */
export function foundWords(rows: number, hasMore: boolean): string {
  return `${rows}${hasMore ? ', and more' : ''} found.`
}
