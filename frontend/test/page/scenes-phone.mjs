// Scenes of the page for phones.
import { answered, until } from "./harness.mjs";
import { say } from "./phone.mjs";

const list = async (page) => {
  await page.click("header .icon-button >> nth=0");
  await page.waitForSelector("dialog .top");
};
const menu = (page) => page.click("header .icon-button >> nth=-1");

export const scenes = {
  async "phone-empty"() {},
  async "phone-chat"(page) {
    await say(page, "formulas");
    await answered(page, "formulas");
    await page.waitForTimeout(1500);
  },
  async "phone-chats"(page) {
    await list(page);
    await page.waitForSelector("dialog .chat");
  },
  async "phone-acts"(page) {
    await list(page);
    await page.click("dialog .chat .icon-button >> nth=0");
    await page.waitForSelector("dialog .acts");
  },
  async "phone-search"(page) {
    await list(page);
    await page.fill("dialog input[type=search]", "formulas");
    await page.waitForSelector("dialog .hit");
  },
  async "phone-attach"(page) {
    await page.setInputFiles("input[type=file]", { name: "a list of what to buy for the garden.txt", mimeType: "text/plain", buffer: Buffer.from("seeds\n") });
    await page.fill("#composer", "What is this?");
    await page.waitForTimeout(800);
  },
  async "phone-models"(page) {
    await page.click("header .icon-button >> nth=-2");
    await page.waitForSelector("dialog[open] li");
  },
  async "phone-settings"(page) {
    await menu(page);
    await page.waitForSelector("dialog[open]");
  },
  async "phone-planned"(page) {
    await menu(page);
    await page.click("dialog .planned");
    await page.waitForTimeout(800);
  },
  async "phone-artifact"(page) {
    await say(page, "page1");
    await answered(page, "page1");
    await page.locator(".block-host .open").last().click();
    await until(page, () => document.querySelector("dialog[open] iframe"));
    await page.waitForTimeout(800);
  },
  async "phone-editing"(page) {
    await say(page, "first words");
    await answered(page, "first words");
    await page.locator("article .acts button").last().click();
    await page.waitForTimeout(300);
  },
  async "phone-ask"(page) {
    await say(page, JSON.stringify([{ name: "exec", args: { command: "ls -la ~/Hearth" } }]));
    await page.waitForSelector(".act .button.primary");
    await page.waitForTimeout(1200);
  },
};
