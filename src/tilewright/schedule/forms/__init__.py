"""The forms that stages may have instead of the loops of their sums; a new one is a line here."""

from tilewright.schedule.forms.form import Form, Formed, Place
from tilewright.schedule.forms.running import Running
from tilewright.schedule.forms.scattered import Scattered
from tilewright.schedule.forms.selected import Selected

FORMS: dict[str, Form] = {form.name: form for form in (Selected(), Running(), Scattered())}

__all__ = ["FORMS", "Form", "Formed", "Place"]
