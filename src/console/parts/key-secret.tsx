import type { ComponentChildren } from 'preact'

const SECRET_LENGTH_MAX = 64

/** Asks for the secret of a key, which is kept only as long as its page. */
export function KeySecret(shown: {
  readonly onGiven: (secret: string) => void
  readonly children: ComponentChildren
}) {
  return (
    <form
      class="narrow"
      onSubmit={(event) => {
        event.preventDefault()
        const given = new FormData(event.currentTarget).get('secret')
        shown.onGiven(String(given ?? '').trim())
      }}
    >
      <p class="small mute">
        {shown.children} It stays in this page's memory, and goes when you leave it.
      </p>
      <label>
        API key
        <input
          name="secret"
          type="password"
          required
          autocomplete="off"
          maxLength={SECRET_LENGTH_MAX}
          pattern="sk_(live|test)_.{32}"
          placeholder="sk_…"
        />
      </label>
      <div class="actions">
        <button type="submit">Use it</button>
      </div>
    </form>
  )
}
