import { useState } from 'preact/hooks'

/**
 * The text of a field that starts with an outside value and follows it when that changes. It is not
 * an effect, because the first effect runs after the page is drawn, when the person may have typed.
 */
export function useTyped(value: string): [text: string, set: (text: string) => void] {
  const [text, setText] = useState(value)
  const [followed, follow] = useState(value)
  if (followed !== value) {
    follow(value)
    setText(value)
  }
  return [followed === value ? text : value, setText]
}
