import { describe, expect, test } from 'vitest'
import { barChart } from '../../bench/chart.js'

interface Rect {
  readonly x: number
  readonly width: number
}

const rectsIn = (svg: string): Rect[] =>
  [...svg.matchAll(/<rect(?: style="[^"]*")? x="([\d.]+)" y="\d+" width="([\d.]+)"/g)].map(
    ([, x, width]) => ({ x: Number(x), width: Number(width) }),
  )

describe('a chart of bars', () => {
  test('has each as long as its value next to the longest of its group', () => {
    const bars = [
      { label: 'one', value: 50, text: '50' },
      { label: 'two', value: 200, text: '200' },
    ]
    const [one, two] = rectsIn(barChart([{ title: 'sends', bars }])) as [Rect, Rect]
    expect(one.width / two.width).toBeCloseTo(0.25, 2)
  })

  test('has the pieces of one behind each other, as long together as it, and says what they are', () => {
    const bars = [
      { label: 'of pieces', value: 100, text: '100', parts: [70, 20, 10] },
      { label: 'whole', value: 100, text: '100' },
    ]
    const legend = ['service', 'identity', 'a < b']
    const svg = barChart([{ title: 'CPU', bars }], legend)
    const rects = rectsIn(svg).slice(legend.length)
    const [first, second, third, whole] = rects as [Rect, Rect, Rect, Rect]
    expect([first.x, second.x, third.x]).toEqual([
      whole.x,
      expect.closeTo(first.x + first.width, 0),
      expect.closeTo(second.x + second.width, 0),
    ])
    expect(third.x + third.width).toBeCloseTo(whole.x + whole.width, 0)
    expect(first.width / whole.width).toBeCloseTo(0.7, 2)
    for (const name of ['service', 'identity', 'a &lt; b']) expect(svg).toContain(`>${name}</text>`)
  })
})
