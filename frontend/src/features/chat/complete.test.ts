import { describe, expect, test } from "vitest";
import type { CommandInfo } from "../../net/wire";
import { complete, kept, named } from "./complete";

const command = (name: string, args = "", choices: string[] = [], aliases: string[] = []): CommandInfo => ({
  name,
  textAliases: [`/${name}`, ...aliases.map((a) => `/${a}`)],
  description: `does ${name}`,
  source: "native",
  scope: "both",
  acceptsArgs: args !== "",
  ...(args ? { args: [{ name: args, description: "", type: "string", choices: choices.map((v) => ({ value: v, label: v })) }] } : {}),
});
const commands = [
  command("help", "", [], ["commands"]),
  command("status"),
  command("stop"),
  command("think", "[level]", ["off", "low", "high"]),
  command("model", "[name]"),
];
const labels = (text: string): string[] => complete(text, commands).map((c) => c.label);

describe("completion of commands", () => {
  test("names by their beginning, also by another name", () => {
    expect(labels("/")).toEqual(["/help", "/status", "/stop", "/think", "/model"]);
    expect(labels("/ST")).toEqual(["/status", "/stop"]);
    expect(labels("/comm")).toEqual(["/commands"]);
    expect(labels("/zzz")).toEqual([]);
  });

  test("what is complete asks for nothing more", () => {
    expect(complete("/status", commands)).toEqual([]);
    expect(complete("/think", commands)).toMatchObject([{ text: "/think ", whole: true }]);
    expect(complete("/think high", commands)).toEqual([]);
  });

  test("choices of the first argument", () => {
    expect(complete("/think h", commands)).toMatchObject([{ text: "/think high", label: "high", whole: false }]);
    expect(labels("/think ")).toEqual(["off", "low", "high"]);
    expect(labels("/think:l")).toEqual(["low"]);
    expect(labels("/model ")).toEqual([]);
  });

  test("messages are left alone", () => {
    for (const text of ["", "hello", "/etc/hosts", "/think high and more", " /help", "/help\nplease", "// no"])
      expect(labels(text)).toEqual([]);
  });
});

test("a prompt that is called like a command does not hide it", () => {
  const prompts = ["help", "Commands", "helpful"].map((name) => ({ name, text: "x", fields: [] }));
  expect(kept("/he", prompts, commands).map((c) => c.label)).toEqual(["/helpful"]);
  expect(kept("/commands", prompts, commands)).toEqual([]);
  expect([named("/HELP", commands), named("/he", commands)]).toEqual([true, false]); // Enter sends it
});
