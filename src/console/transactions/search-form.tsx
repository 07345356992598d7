import { useState } from 'preact/hooks'
import { useTyped } from '../parts/typed.js'

/** The form that the service accepts. */
const SEARCH = /^(?:tx_[0-9A-Z]{26}|0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64}))$/

export function SearchForm(shown: {
  readonly value: string
  readonly onSearch: (value: string) => void
}) {
  const [text, setText] = useTyped(shown.value)
  const [isWrong, setWrong] = useState(false)
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault()
        const wanted = text.trim()
        const isFound = wanted === '' || SEARCH.test(wanted)
        setWrong(!isFound)
        if (isFound) shown.onSearch(wanted)
      }}
    >
      <label>
        Find by id, hash or address
        <input
          type="search"
          name="search"
          value={text}
          placeholder="tx_… or 0x…"
          spellcheck={false}
          autocomplete="off"
          aria-invalid={isWrong}
          aria-describedby="search-help"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit">Find</button>
      <p id="search-help" class="small wrong" role="status">
        {isWrong &&
          'An id is tx_ and 26 characters, a hash 0x and 64 digits, an address 0x and 40.'}
      </p>
    </form>
  )
}
