/** Scripts that draw and look at pictures in the page; as text, since the tests are typed without a browser's globals. */

/** A sign as a data URI, PNG. */
export const SIGN = String.raw`(() => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1200, height: 420 })
  const context = canvas.getContext("2d")
  context.fillStyle = "white"
  context.fillRect(0, 0, 1200, 420)
  context.fillStyle = "black"
  context.font = "44px sans-serif"
  context.fillText("Marsh Island", 60, 110)
  context.fillText("The ferry to Marsh Island costs seven crowns.", 60, 210)
  context.fillText("It leaves at noon from the east pier.", 60, 310)
  return canvas.toDataURL("image/png")
})()`

/** How much of the first cited box, from 0 to 1, is ink in the picture of the page under it. */
export const INK_IN_CITED = String.raw`(async () => {
  const page = document.querySelector(".facsimile")
  const cited = page.querySelector(".cited")
  const picture = new Image()
  picture.src = page.querySelector("image").getAttribute("href")
  await picture.decode()
  const scale = picture.naturalWidth / page.viewBox.baseVal.width
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(cited.getAttribute(name)) * scale)
  const canvas = Object.assign(document.createElement("canvas"), { width, height })
  const context = canvas.getContext("2d")
  context.drawImage(picture, -x, -y)
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
  let dark = 0
  for (let at = 0; at < data.length; at += 4) if (data[at] < 128) dark++
  return dark / (data.length / 4)
})()`
