/** A field for an address that is typed or pasted. */
export function AddressField(shown: {
  readonly name: string
  readonly value: string
  readonly onInput: (value: string) => void
}) {
  return (
    <label>
      Address
      <input
        required
        name={shown.name}
        placeholder="0x…"
        autocomplete="off"
        spellcheck={false}
        value={shown.value}
        onInput={({ currentTarget }) => shown.onInput(currentTarget.value)}
      />
    </label>
  )
}
